"""What waits for a client, compared with a plain list."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from acptap.transports.endpoint.mailbox import Mailbox, Store

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.binary(min_size=1, max_size=9)),
        st.tuples(st.just("peek"), st.integers(0, 30)),
        st.tuples(st.just("drop"), st.integers(0, 4)),
    )
)


@given(ACTIONS)
def test_a_mailbox_is_a_list(actions):
    store, told = Store(20), []
    store.on_drain = lambda: told.append(store.is_full)
    mailbox: Mailbox[bytes] = Mailbox(store)
    items: list[bytes] = []
    full = False
    for action, value in actions:
        match action:
            case "put":
                mailbox.put(value)
                items.append(value)
            case "peek":
                found = mailbox.peek(value)
                assert found == items[: len(found)]
                assert len(found) == bool(items) or len(b"".join(found)) <= value
                if len(found) < len(items):
                    assert len(b"".join(items[: len(found) + 1])) > value
            case _:
                mailbox.drop(value)
                del items[:value]
        size = len(b"".join(items))
        full = size >= 20 or (full and size > 10)
        assert store.is_full is full
        assert mailbox.is_empty is (not items)
    assert told == [False] * len(told)


async def test_what_comes_after_the_end_is_not_taken():
    store = Store(20)
    mailbox: Mailbox[bytes] = Mailbox(store)
    mailbox.put(b"a")
    mailbox.end(discard=False)
    mailbox.put(b"b")
    assert await mailbox.look()
    assert mailbox.peek(9) == [b"a"]
    mailbox.drop(1)
    assert not await mailbox.look()


async def test_what_is_discarded_can_not_be_dropped_again():
    mailbox: Mailbox[bytes] = Mailbox(Store(1))
    mailbox.put(b"a")
    assert mailbox.peek(9) == [b"a"]
    mailbox.end(discard=True)
    mailbox.drop(1)
    assert not await mailbox.look()


async def test_who_looks_is_woken():
    mailbox: Mailbox[bytes] = Mailbox(Store(9))
    async with asyncio.timeout(9), asyncio.TaskGroup() as tasks:
        looking = tasks.create_task(mailbox.look())
        await asyncio.sleep(0)
        assert not looking.done()
        mailbox.put(b"a")
    assert looking.result()
