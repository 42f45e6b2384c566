import type { PcmStream } from '../../pcm/pcm.js'
import type { SampleRange } from '../../voice-cut.js'
import { SYNC_PLACES, SyncReference, type SyncSample } from './sync-reference.js'

/** Feeds a voice to the mux, counts it, and keeps samples for the sync check. */
export class VoiceFeed {
  readonly #voice: PcmStream
  readonly #reference: SyncReference
  readonly #sections: HeardSection[] = []

  constructor(voice: PcmStream, expectedSamples: number) {
    this.#voice = voice
    this.#reference = new SyncReference(voice.format, voice.sampleCount ?? expectedSamples)
  }

  get sampleCount(): number {
    return this.#reference.sampleCount
  }

  get syncSamples(): readonly SyncSample[] {
    return this.sections ? sectionSamples(this.#sections) : this.#reference.samples
  }

  /** The sections that were read; null if the voice was read from its start. */
  get sections(): readonly SampleRange[] | null {
    if (this.#sections.length === 0) return null
    return this.#sections.map(({ startSample, reference }) => {
      return { startSample, endSample: startSample + reference.sampleCount }
    })
  }

  /** The voice; can be read once. */
  get stream(): PcmStream {
    const { format, sampleCount, sections } = this.#voice
    return {
      ...{ format, sampleCount },
      buffers: () => heard(this.#voice, this.#reference),
      sections: sections?.map(({ startSample, stream }) => ({
        startSample,
        stream: { ...stream, buffers: () => this.#readSection(startSample, stream) },
      })),
    }
  }

  #readSection(startSample: number, stream: PcmStream): AsyncGenerator<Buffer> {
    const reference = new SyncReference(stream.format, stream.sampleCount ?? 0)
    this.#sections.push({ startSample, reference })
    return heard(stream, reference)
  }
}

interface HeardSection {
  readonly startSample: number
  readonly reference: SyncReference
}

async function* heard(stream: PcmStream, reference: SyncReference): AsyncGenerator<Buffer> {
  try {
    for await (const buffer of stream.buffers()) {
      reference.push(buffer)
      yield buffer
    }
  } finally {
    // A reader that has all it needs stops before the end.
    reference.end()
  }
}

/** The first, the middle and the last block of all sections that are not silent. */
function sectionSamples(sections: readonly HeardSection[]): readonly SyncSample[] {
  const all = sections.flatMap(({ startSample, reference }) =>
    reference.samples.map((sample) => ({ ...sample, atSample: sample.atSample + startSample })),
  )
  const loud = all.filter(({ values }) => values.length > 0)
  const from = loud.length > 0 ? loud : all
  return SYNC_PLACES.map((at, place) => {
    const sample = from[Math.round((place * (from.length - 1)) / (SYNC_PLACES.length - 1))] as SyncSample
    return { ...sample, at }
  })
}
