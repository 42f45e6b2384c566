/**
 * What it costs to hear of a folder's files while one of them grows: `npm run bench folder-events [files]` (default
 * 2000). chokidar against the watch of Node itself, as shares of one processor.
 */
import { appendFileSync, mkdtempSync, rmSync, watch as watchFolder, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watch as chokidar } from 'chokidar'

const WRITES = 250
const WRITE_MS = 20

const files = Number(process.argv[3] ?? 2000)
const dir = mkdtempSync(join(tmpdir(), 'voxmux-bench-'))
try {
  for (let index = 0; index < files; index++) writeFileSync(join(dir, `${index}.wav`), 'x')
  const node = await shareOf((hint) => {
    const watcher = watchFolder(dir, hint)
    return () => watcher.close()
  })
  const library = await shareOf((hint) => {
    const isFile = (_path: string, facts?: { isDirectory(): boolean }) => facts !== undefined && !facts.isDirectory()
    const watcher = chokidar(dir, { depth: 0, ignoreInitial: true, ignored: isFile }).on('raw', hint)
    return () => watcher.close()
  })
  process.stdout.write(
    `one file grows among ${files}: chokidar ${library.toFixed(2)} of a processor, fs.watch ${node.toFixed(2)}\n`,
  )
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** Share of a processor that this process uses while the file grows. */
async function shareOf(begin: (hint: () => void) => () => unknown): Promise<number> {
  let hints = 0
  const end = begin(() => hints++)
  await sleep(1500)
  const before = process.cpuUsage()
  const beganMs = performance.now()
  for (let write = 0; write < WRITES; write++) {
    appendFileSync(join(dir, 'growing.wav'), Buffer.alloc(1000))
    await sleep(WRITE_MS)
  }
  const { user, system } = process.cpuUsage(before)
  const share = (user + system) / 1000 / (performance.now() - beganMs)
  await end()
  if (hints === 0) throw new Error('no event came')
  return share
}
