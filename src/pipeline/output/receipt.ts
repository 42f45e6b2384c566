import { rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { readPlainFile } from '../../core/read-plain-file.js'
import { syncFolder } from '../../core/sync-folder.js'
import { WRITER_NAMES } from '../../media/index.js'
import { certificateSchema } from './certificate.js'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const count = z.int().min(0)

const fileSchema = z.object({
  path: z.string().meta({ description: 'Absolute path at the time of the job.' }),
  sizeBytes: count,
  sha256,
})

const streamFateSchema = z.object({
  index: count
    .nullable()
    .meta({ description: 'Index in the input. An added stream has the index of the one that was regenerated.' }),
  outputIndex: count.nullable().meta({ description: 'Index in the output; null for a dropped stream.' }),
  kind: z.enum(['video', 'audio', 'subtitle', 'data', 'attachment', 'unknown']),
  codec: z.string().nullable(),
  fate: z.enum(['copied', 'replaced', 'converted', 'dropped', 'added']),
  packetHash: z.object({ input: z.string(), output: z.string().nullable() }).nullable().meta({
    description: 'Hash of all packets of a copied stream, before and after; the output is null with verify fast.',
  }),
  reason: z.string().nullable().meta({ description: 'Reason why a stream was dropped or converted.' }),
})
export type StreamFate = z.infer<typeof streamFateSchema>

/** Streams with regenerated audio. Without any, those that were sent and stayed, because what came back was the same. */
export function regeneratedStreams({ streams, voices }: Pick<Receipt, 'streams' | 'voices'>): readonly StreamFate[] {
  const regenerated = streams.filter(({ fate }) => fate === 'replaced' || fate === 'added')
  if (regenerated.length > 0) return regenerated
  const sounds = streams.filter(({ kind }) => kind === 'audio')
  return sounds.filter((_, place) => voices.some(({ audioIndex }) => audioIndex === place))
}

const lossSchema = z.object({
  what: z.string().meta({ description: 'The thing that the output cannot carry.' }),
  stream: count.nullable(),
  reason: z.string(),
})

const structureSchema = z.object({
  path: z.string().meta({ description: 'Path of names from the outermost, such as `moov/udta/meta`.' }),
  fate: z.enum(['kept', 'rewritten', 'lost']),
  reason: z.string().nullable().meta({ description: 'The change and its reason; null if the structure is kept.' }),
  start: count.meta({ description: 'First byte in the input.' }),
  length: count,
})

const writingSchema = z.object({
  writer: z.enum(WRITER_NAMES).meta({ description: 'The writer that made the output.' }),
  declined: z
    .array(z.object({ writer: z.enum(WRITER_NAMES), reason: z.string() }))
    .meta({ description: 'The writers tried before it, and why each declined the file.' }),
  census: z.array(structureSchema).nullable().meta({
    description:
      'Every structure of the input; null if voxmux does not list those of its container. If there are more than 100000, those of one path, fate and reason become one. It starts where the first of them does, and is as long as all of them.',
  }),
})

const loudnessSchema = z.object({
  integratedLufs: z.number().nullable().meta({ description: 'EBU R128; null for silence.' }),
  rangeLu: z.number().nullable(),
  truePeakDbtp: z.number().nullable(),
})
export type LoudnessFigures = z.infer<typeof loudnessSchema>

const syncPlaceSchema = z.object({
  at: z.enum(['start', 'middle', 'end']),
  atSample: count,
  offsetSamples: z
    .number()
    .nullable()
    .meta({ description: 'Offset of the audio from the original, in samples; positive is late; null for silence.' }),
})

const voiceSchema = z.object({
  audioIndex: count,
  channel: count.nullable().meta({ description: 'The single channel that was sent; null for all channels.' }),
  startSample: count,
  endSample: count,
  sampleRate: count,
  voiceHash: z.string().meta({ description: 'Hash of the audio that was sent.' }),
  fileId: z.string().nullable().meta({ description: "The service's file id; null if the audio came from the cache." }),
  cached: z.boolean(),
  paidSec: z.number(),
  lagSamples: z.int().meta({ description: 'Delay of the regenerated audio, which was removed.' }),
  match: z.number().meta({ description: 'Match between the voice and the regenerated audio, 0 to 1.' }),
  changedSec: z.number().nullable().default(null).meta({
    description:
      'Seconds in which the output differs audibly from the sent voice. 0: it was left as it was. Null: not measured.',
  }),
  removedDb: z.number().nullable().default(null).meta({
    description: 'Mean fall of the level in these seconds, in dB; negative if it rose; null if nothing changed.',
  }),
  hum: z
    .object({
      frequencyHz: z.number(),
      levelDb: z.number().meta({ description: 'Level of all its harmonics in the sent voice, in dBFS.' }),
      fallDb: z.number().meta({ description: 'How much lower it is in the output, in dB; 60 at most.' }),
    })
    .nullable()
    .default(null)
    .meta({ description: 'Hum of the mains in the sent voice, measured in parts of it; null if there was none.' }),
  clipping: z
    .object({
      share: z.number().meta({ description: 'Share of the samples in flat peaks, 0 to 1.' }),
      shareLeft: z.number().meta({ description: 'The same in the output.' }),
    })
    .nullable()
    .default(null)
    .meta({ description: 'Clipped peaks of the sent voice, measured in parts of it; null if there were none.' }),
  reverberation: z
    .object({
      levelDb: z.number().meta({ description: 'Late reverberation relative to the sent voice, in dB.' }),
      levelLeftDb: z.number().meta({ description: 'The same in the output.' }),
    })
    .nullable()
    .default(null)
    .meta({ description: 'Reverberation of the sent voice, measured in parts of it; null if there was none.' }),
  timesMs: z.record(z.string(), z.number()).meta({
    description: "Unix milliseconds of the service's steps: registered, uploaded, started, ended, downloaded.",
  }),
})
export type VoiceRecord = z.infer<typeof voiceSchema>

const keptPacketsSchema = z.object({
  count: count.meta({ description: 'Packets of the track.' }),
  kept: z
    .array(z.object({ from: count, to: count }))
    .meta({ description: "Runs of packets that are the original's, counted from 1, both ends included." }),
})

const trackSchema = z.object({
  audioIndex: count,
  sampleRate: count,
  packets: keptPacketsSchema
    .nullable()
    .default(null)
    .meta({ description: 'Packets of a lossy track that changed only in parts; null if all of them are new.' }),
  sync: z.array(syncPlaceSchema),
  loudness: z
    .object({
      before: loudnessSchema,
      after: loudnessSchema,
      of: z.enum(['track', 'parts']).optional().meta({
        description: '`parts`: of the regenerated parts, because only they were decoded. Otherwise of the whole track.',
      }),
    })
    .meta({
      description: 'Measured before a lossy codec, which lifts peaks. A certificate measures the finished file.',
    }),
})
export type TrackRecord = z.infer<typeof trackSchema>

const credentialsSchema = z.object({
  carrier: z.enum(['embedded', 'sidecar']).meta({ description: 'Their place: in the file, or in `<output>.c2pa`.' }),
  signer: z.string().meta({ description: 'Subject of the signing certificate.' }),
  sourceType: z.string().meta({ description: "IPTC's word for the effect of the service on a voice." }),
  parent: z
    .object({
      state: z.enum(['trusted', 'valid', 'invalid']),
      signer: z.string().nullable(),
      failures: z.array(z.string()).meta({ description: 'Codes of C2PA for what is wrong with them.' }),
    })
    .nullable()
    .meta({ description: 'Content Credentials of the input, which those of the output carry on; null without them.' }),
  reason: z.string().nullable().meta({ description: 'Why a file that can hold them has a sidecar; else null.' }),
})

/** `<output>.voxmux.json`: the record of what was done to a file, and the proof that nothing else changed. */
export const receiptSchema = z.object({
  schemaVersion: z.literal(1),
  voxmux: z.string().meta({ description: 'Version of voxmux.' }),
  job: z.string(),
  createdAt: z.iso.datetime(),
  input: fileSchema.extend({ mtimeMs: z.number() }).or(
    z.object({
      path: z.string().meta({ description: 'Address, without its query, that the service fetched itself.' }),
      sizeBytes: z.null(),
      sha256: z.null(),
      mtimeMs: z.null(),
    }),
  ),
  output: fileSchema.extend({ container: z.string() }),
  preset: z.string(),
  recipeHash: sha256,
  segments: z
    .array(z.object({ startSec: z.number(), endSec: z.number() }))
    .meta({ description: 'The parts that were sent and replaced, in seconds from the start of the file.' }),
  streams: z.array(streamFateSchema),
  chapters: count.meta({ description: 'Number of chapters of the output.' }),
  losses: z.array(lossSchema),
  writing: writingSchema.nullable().default(null).meta({ description: 'How the output was written.' }),
  notes: z.array(z.string()).meta({ description: 'Notes for people that are not losses.' }),
  tracks: z.array(trackSchema),
  voices: z.array(voiceSchema),
  voicelessPaidSec: z.number().default(0).meta({
    description: 'Seconds sent for parts in which the service found no voice, which are unchanged. It may charge them.',
  }),
  service: z.object({ identity: z.string(), address: z.string(), model: z.string() }),
  verification: z.object({ level: z.enum(['full', 'fast']), passed: z.literal(true), checks: z.array(z.string()) }),
  credentials: credentialsSchema
    .nullable()
    .default(null)
    .meta({ description: 'Content Credentials (C2PA) of the output; null if it is not signed.' }),
  certificate: certificateSchema
    .nullable()
    .default(null)
    .meta({ description: 'The sound of the output against a delivery standard; null if none was requested.' }),
  report: z.string().nullable().default(null).meta({
    description: 'HTML report beside the output, with the comparison and the certificate; null if none was requested.',
  }),
  publish: z.enum(['link', 'rename', 'replace']).nullable(),
  ffmpeg: z.object({ version: z.string(), runs: z.array(z.array(z.string())) }),
})
export type Receipt = z.infer<typeof receiptSchema>

/** Writes a receipt atomically and durably, because its job is done next. @param part hidden file for it */
export async function writeReceipt(path: string, receipt: Receipt, part: string): Promise<void> {
  await writeFile(part, `${JSON.stringify(receiptSchema.parse(receipt), null, 2)}\n`, { flag: 'wx', flush: true })
  await rename(part, path)
  await syncFolder(dirname(path))
}

/** Reads the receipt beside an output; undefined if it is missing or unreadable. */
export async function readReceipt(path: string): Promise<Receipt | undefined> {
  try {
    return receiptSchema.parse(JSON.parse((await readPlainFile(path)).toString()))
  } catch {
    return undefined
  }
}

/** Seconds for which a run was charged: its voices, and the parts without one. */
export function paidSecOf({ voices, voicelessPaidSec }: Pick<Receipt, 'voices' | 'voicelessPaidSec'>): number {
  return voices.reduce((sum, { paidSec }) => sum + paidSec, voicelessPaidSec)
}
