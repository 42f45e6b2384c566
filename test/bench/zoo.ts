/**
 * `npm run bench zoo FOLDER [PATTERN]`: a row for each file of a folder. Its first sound is written back at half its
 * level, without a service: how the output is written, what is kept of it, and where its sound lies.
 */
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { toVoxmuxError } from '../../src/core/errors.js'
import { audioStreams, cutVoice, rehearseMux } from '../../src/media/index.js'
import { probe } from '../../src/media/probe/probe.js'
import { planOutput } from '../../src/media/write/plan-writing.js'
import { judge } from '../../src/pipeline/plan/judge.js'
import { planTracks } from '../../src/pipeline/plan/plan-tracks.js'
import { DEFAULT_SERVICE_LIMITS, refusalError } from '../../src/precheck/index.js'
import { countCensus } from '../helpers/count-census.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { writtenFile } from '../helpers/written-file.js'

const COLUMNS = ['file', 'end', 'writer', 'kept', 'rewritten', 'lost', 'packets', 'sound (ms)', 'notes'] as const
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>

const [folder, pattern = ''] = process.argv.slice(3)
if (folder === undefined) {
  process.stdout.write('npm run bench zoo FOLDER [PATTERN]: name a folder of media files.\n')
} else {
  process.stdout.write(`| ${COLUMNS.join(' | ')} |\n|${COLUMNS.map(() => ' --- |').join('')}\n`)
  const work = await mkdtemp(join(tmpdir(), 'voxmux-zoo-'))
  const rows: Row[] = []
  try {
    for (const name of (await readdir(folder)).sort()) {
      if (!new RegExp(pattern).test(name) || !/\.\w+$/.test(name) || /\.(tsv|md)$/.test(name)) continue
      const row = await rowOf(join(resolve(folder), name), work)
      rows.push(row)
      process.stdout.write(`| ${COLUMNS.map((column) => row[column]).join(' | ')} |\n`)
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  const ended = (end: RegExp) => rows.filter((row) => end.test(row.end)).length
  process.stdout.write(
    `\n${rows.length} files: ${ended(/^published$/)} published, ${ended(/^refused/)} refused before sending, ` +
      `${ended(/^failed/)} failed after it, ${rows.filter(({ lost, writer }) => writer !== 'remux' && lost === '0').length} whole\n`,
  )
}

async function rowOf(path: string, work: string): Promise<Row> {
  const name = basename(path)
  const linked = join(work, name)
  await symlink(path, linked)
  let isSent = false
  try {
    await requirePrecheck(linked)
    await requireTrial(linked)
    await requireCut(linked)
    isSent = true
    const { plan, verified } = await writtenFile(linked)
    const { writing, losses } = plan
    const count = writing.kind === 'bytes' ? countCensus(writing.census).structures : null
    const places = verified.sync[0]?.places ?? []
    const rate = plan.streams.find(({ fate }) => fate === 'replaced')?.input
    const ms = (samples: number | null) =>
      samples === null || rate?.kind !== 'audio' ? '–' : ((1000 * samples) / rate.sampleRate).toFixed(2)
    const packets = verified.streams.flatMap(({ packetHash }) => (packetHash ? [packetHash] : []))
    return {
      file: name,
      end: 'published',
      writer: writing.kind === 'bytes' ? writing.writer : 'remux',
      kept: String(count?.kept ?? '–'),
      rewritten: String(count?.rewritten ?? '–'),
      lost: String(count?.lost ?? losses.length),
      packets: packets.every(({ input, output }) => input === output) ? 'same' : 'differ',
      'sound (ms)': places.map(({ offsetSamples }) => ms(offsetSamples)).join(' '),
      notes: [
        ...writing.declined.map(({ writer, reason }) => `${writer}: ${reason}`),
        ...losses.map(({ what }) => what),
      ].join('; '),
    }
  } catch (thrown) {
    const error = toVoxmuxError(thrown, path)
    // An unforeseen end is none that refuses.
    const end = isSent || error.exitCode === 1 ? 'failed' : 'refused'
    const none = { writer: '–', kept: '–', rewritten: '–', lost: '–', packets: '–', 'sound (ms)': '–' }
    return { file: name, end: `${end} (${error.code})`, ...none, notes: error.message.replaceAll(linked, name) }
  } finally {
    await rm(linked, { force: true })
    await rm(`${linked}.part`, { force: true })
  }
}

/** Refuses what the local pre-check of a job refuses: the first track, each channel as its own voice. */
async function requirePrecheck(path: string): Promise<void> {
  const media = await probe(path)
  const track = audioStreams(media).length > 1 ? 0 : 'only'
  const { settings } = requestFor(path, { recipe: { track, channels: 'each' } })
  const tracks = planTracks(media, settings, DEFAULT_SERVICE_LIMITS)
  const refusal = refusalError(path, judge(media, tracks, settings, DEFAULT_SERVICE_LIMITS).asSent)
  if (refusal) throw refusal
}

/** Refuses a file whose first sound cannot be cut, as a job does. */
async function requireCut(path: string): Promise<void> {
  const range = { startSample: 0, endSample: null }
  const request = { audioIndex: 0, channels: { kind: 'all' }, range, targetWithoutExtension: `${path}.cut` } as const
  const [cut] = await cutVoice(await probe(path), [request])
  if (cut) await Promise.all([cut.path, cut.pcm.path].map((made) => rm(made)))
}

/** Refuses a file that ffmpeg cannot write so that it passes verification, as a job does. */
async function requireTrial(path: string): Promise<void> {
  const media = await probe(path)
  if (!audioStreams(media)[0]?.codec) return
  await rehearseMux(await planOutput(media, { replaced: [0] }), { downmixed: new Set() })
}
