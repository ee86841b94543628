METHOD = "ag-ui"
