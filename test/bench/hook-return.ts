/**
 * `npm run bench hook-return`: how long the hooks of nginx-rtmp and MediaMTX keep their server waiting, as a ratio of
 * `sh -c true`: what a hook costs that does nothing. Medians of runs that alternate, so that a busy machine slows all
 * alike.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './median.js'

const ROUNDS = 101
/** A small multiple: a second program (mv) and some text; starting node alone would be some forty. */
const HIGHEST_RATIO = 4

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'voxmux-hooks-'))
const spool = join(folder, 'spool')
mkdirSync(spool)
// Side by side in one folder, as they are installed.
for (const script of [
  'shell/spool-job.sh',
  'plugins/mediamtx/segment-created.sh',
  'plugins/mediamtx/segment-complete.sh',
])
  copyFileSync(join(root, script), join(folder, basename(script)))
const segment = '/srv/recordings/studio/cam1/2026-01-02_10-00-00-000000.mp4'
let segments = 0

const hooks: Readonly<Record<string, () => number>> = {
  'nginx-rtmp exec_record_done': () => elapsedMs([join(folder, 'spool-job.sh'), spool, segment, '/srv/finished/']),
  'MediaMTX runOnRecordSegmentComplete': () => {
    const environment = { MTX_PATH: 'studio/cam1', MTX_SEGMENT_PATH: `${segment}.${segments++}` }
    // The job was put aside when the segment began, long ago.
    elapsedMs([join(folder, 'segment-created.sh'), spool, '/srv/finished/'], environment)
    return elapsedMs([join(folder, 'segment-complete.sh'), spool, '/srv/finished/'], environment)
  },
  'node -e 0, to compare': () => elapsedMs(['-c', `exec ${process.execPath} -e 0`]),
}

try {
  for (const [name, hook] of Object.entries(hooks)) {
    const ratios = Array.from({ length: ROUNDS }, () => hook() / elapsedMs(['-c', 'true']))
    const ratio = median(ratios)
    const verdict = name.startsWith('node')
      ? ''
      : ` (at most ${HIGHEST_RATIO}: ${ratio <= HIGHEST_RATIO ? 'holds' : 'too slow'})`
    process.stdout.write(`${name.padEnd(38)} ${ratio.toFixed(1)} × sh -c true${verdict}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Milliseconds of a shell from start to end. */
function elapsedMs(args: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  const began = performance.now()
  const { status } = spawnSync('/bin/sh', args, { stdio: 'ignore', env })
  if (status !== 0) throw new Error(`sh ${args.join(' ')} ended with ${status}`)
  return performance.now() - began
}
