BLOCK = 64 * 1024 * 1024
PAGE = 4096

blocks = []
while True:
    block = bytearray(BLOCK)
    for start in range(0, BLOCK, PAGE):
        block[start] = 1
    blocks.append(block)
    print("distances held:", len(blocks) * BLOCK // 2**20, "MB", flush=True)
