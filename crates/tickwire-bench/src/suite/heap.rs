//! Memory in use, as the allocator counts it: what was freed and is kept for later does not count.

/// Bytes that this process has allocated and not freed, with what the allocator adds to each piece.
pub(super) fn heap_bytes() -> f64 {
    // SAFETY: it takes nothing, and returns a structure of integers.
    let heap = unsafe { libc::mallinfo2() };
    (heap.uordblks + heap.hblkhd) as f64
}
