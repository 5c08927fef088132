//! Queues that stay where they are in memory.

use alloc::collections::VecDeque;

/// Takes the first element. A queue that is empty then begins again at the front of its memory, instead
/// of wandering through all the room that it ever needed: what follows stays in the cache.
///
/// The standard library does so when it clears a queue, though it does not promise to; if it should
/// stop, this costs time and nothing else.
pub(super) fn pop<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let first = queue.pop_front();
    if queue.is_empty() {
        queue.clear();
    }
    first
}
