/**
 * `npm run bench timeline`: a cut of 500 clips over 20 files, planned: read, found, probed, ranges laid and jobs
 * planned, nothing sent. Asked for: under a second. Beside it what probing these files alone takes, since a busy
 * machine slows both alike: what is left is the planning.
 */

import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { planTimeline } from '../../plugins/timelines/index.js'
import { probe } from '../../src/media/index.js'
import { ffmpeg, testFolder, tone } from '../helpers/media-factory.js'
import { clip, external, timeline, timeRange, track } from '../plugins/timelines/otio-file.js'
import { timelineRequest } from '../plugins/timelines/timeline-request.js'
import { median } from './median.js'

const FILES = 20
const CLIPS = 500
const FILE_SEC = 300
const ROUNDS = 7
const HIGHEST_MS = 1000

const folder = await testFolder()
try {
  const [first, ...others] = Array.from({ length: FILES }, (_, index) => folder.file(`take-${index}.wav`))
  if (first) await ffmpeg(...tone(FILE_SEC, 8000), first)
  for (const other of others) await ffmpeg('-i', first ?? '', '-c', 'copy', other)
  const clips = Array.from({ length: CLIPS }, (_, index) =>
    clip(`clip ${index}`, external(`take-${index % FILES}.wav`), timeRange((index * 137) % 7000, 40, 29.97)),
  )
  await writeFile(folder.file('cut.otio'), timeline([track('Audio', clips)]))
  const planned: number[] = []
  const probed: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    planned.push(await elapsedMs(() => planTimeline(timelineRequest(folder.file('cut.otio')), {})))
    const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) })
    const all = [first ?? '', ...others]
    probed.push(await elapsedMs(() => queue.addAll(all.map((path) => () => probe(path)))))
  }
  const [plan, probing] = [median(planned), median(probed)]
  const rest = median(planned.map((ms, round) => ms - (probed[round] ?? 0)))
  const verdict = plan <= HIGHEST_MS ? 'holds' : 'too slow'
  process.stdout.write(
    `${CLIPS} clips over ${FILES} files planned in ${Math.round(plan)} ms (at most ${HIGHEST_MS}: ${verdict}), ` +
      `${(plan / probing).toFixed(2)} × probing the files alone (${Math.round(probing)} ms): ${Math.round(rest)} ms more\n`,
  )
} finally {
  await folder.remove()
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
