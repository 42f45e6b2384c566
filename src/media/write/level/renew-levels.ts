import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import { decodePcm } from '../../pcm/decode-pcm.js'
import { measureLoudness } from '../../pcm/loudness.js'
import { probe } from '../../probe/probe.js'
import { type BytePlan, offsetMap } from '../byte-plan.js'
import type { LevelField, LevelFields } from './level-field.js'
import { type LevelChange, SAME_LEVEL } from './level-text.js'

interface WrittenTrack {
  readonly media: MediaInfo
  /** The container of the output. */
  readonly container: string
  readonly audioIndex: number
  readonly layout: BytePlan
  /** The output of the layout, with the old statements. */
  readonly partPath: string
  readonly signal?: AbortSignal | undefined
}

/** Measures the old and the new sound of a track, and writes what an output states about its level. */
export async function renewLevels(fields: LevelFields, track: WrittenTrack): Promise<void> {
  if (typeof fields !== 'function' && fields.length === 0) return
  const change = await levelChange(track)
  const { outputOffset } = offsetMap(track.layout)
  await using file = await open(track.partPath, 'r+')
  const placed = (field: LevelField) => ({ ...field, start: outputOffset(field.start) as number })
  for (const { start, length, renewed } of typeof fields === 'function' ? await fields(file) : fields.map(placed)) {
    await file.write(renewed(await readAt(file, start, length), change), 0, length, start)
  }
}

async function levelChange({ media, container, audioIndex, partPath, signal }: WrittenTrack): Promise<LevelChange> {
  const measured = (file: MediaInfo) => measureLoudness(decodePcm(file, { audioIndex, signal }))
  const [before, after] = [
    await measured(media),
    await measured(await probe(partPath, { signal, writtenAs: container })),
  ]
  const gainDb = difference(before.integratedLufs, after.integratedLufs)
  const peakDb = difference(after.truePeakDbtp, before.truePeakDbtp)
  return {
    gainDb: gainDb ?? SAME_LEVEL.gainDb,
    peakRatio: peakDb === null ? SAME_LEVEL.peakRatio : 10 ** (peakDb / 20),
  }
}

function difference(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one - other
}
