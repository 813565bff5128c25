"""Starts ten thousand threads."""
import threading

threading.stack_size(64 << 10)
end = threading.Event()
threads = []
for _ in range(10_000):
    thread = threading.Thread(target=end.wait, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        print("refused after", len(threads), flush=True)
        raise
    threads.append(thread)
print("BROKEN started", len(threads))
