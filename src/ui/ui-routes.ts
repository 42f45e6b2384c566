import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../core/make-folder.js'
import { audioStreams, probe, soundPeaks } from '../media/index.js'
import type { PageExchange, Route } from '../pages/page-server.js'
import { readJsonBody } from '../pages/read-json-body.js'
import { sendError, sendJson } from '../pages/respond.js'
import { sendFile } from '../pages/send-file.js'
import { requireFreeSpace } from '../pipeline/output/free-space.js'
import { COMPARISON_FILE } from '../pipeline/report/comparison-files.js'
import type { ComparisonStore } from '../pipeline/report/comparison-store.js'
import { sendComparedFile, sendComparison } from '../pipeline/report/send-comparison.js'
import { type ConfigOf, checkView, planView } from './file-view.js'
import { listFolder } from './folder-listing.js'
import type { JobBoard, UiJob } from './job-board.js'

/** Characters that some file systems do not accept in a name. */
const UNSAFE = /[\p{Cc}/\\:*?"<>|]/gu
const LONGEST_NAME = 100

/** The parts that build every response. */
export interface UiParts {
  readonly board: JobBoard
  readonly comparisons: ComparisonStore
  readonly configOf: ConfigOf
  readonly cwd: string
  /** Private folder for files that are dropped on the page. */
  readonly uploadFolder: string
  /** Opens a folder in the person's file manager; false if this system has no program for it. */
  readonly openFolder: (path: string) => Promise<boolean>
  /** The facts that the page shows at its start. */
  readonly start: object
}

type UiExchange = UiParts & PageExchange

const JOB = '/api/jobs/(?<id>[0-9A-Za-z_-]{1,64})'
const MOST_PEAKS = 1000

/** All routes besides the page. */
export const UI_ROUTES: readonly Route<UiParts>[] = [
  {
    method: 'GET',
    pattern: /^\/api\/start$/,
    answer: ({ response, start, board }) => sendJson(response, 200, { ...start, running: board.running }),
  },
  { method: 'GET', pattern: /^\/api\/folder$/, answer: answerFolder },
  { method: 'GET', pattern: /^\/api\/waveform$/, answer: answerWaveform },
  { method: 'POST', pattern: /^\/api\/upload$/, readsBody: true, answer: answerUpload },
  { method: 'POST', pattern: /^\/api\/check$/, readsBody: true, answer: viewOf(checkView) },
  { method: 'POST', pattern: /^\/api\/plan$/, readsBody: true, answer: viewOf(planView) },
  { method: 'POST', pattern: /^\/api\/jobs$/, readsBody: true, answer: answerStart },
  { method: 'POST', pattern: /^\/api\/previews$/, readsBody: true, answer: answerPreview },
  {
    method: 'GET',
    pattern: new RegExp(`^${JOB}$`),
    answer: withJob(({ response }, job) => sendJson(response, 200, job)),
  },
  { method: 'POST', pattern: new RegExp(`^${JOB}/stop$`), answer: withJob(answerStop) },
  { method: 'POST', pattern: new RegExp(`^${JOB}/folder$`), answer: withJob(answerOpenFolder) },
  { method: 'GET', pattern: new RegExp(`^${JOB}/output$`), answer: withJob(answerOutput) },
  { method: 'GET', pattern: new RegExp(`^${JOB}/comparison$`), answer: withJob(answerComparison) },
  {
    method: 'GET',
    pattern: new RegExp(`^${JOB}/comparison/${COMPARISON_FILE}$`),
    answer: withJob((exchange, job) => sendComparedFile(exchange, comparedJob(job))),
  },
]

/** Responds with 404 if the job in the address does not exist. */
function withJob(answer: (exchange: UiExchange, job: UiJob) => void | Promise<void>) {
  return (exchange: UiExchange) => {
    const job = exchange.board.get(exchange.groups.id ?? '')
    return job ? answer(exchange, job) : sendError(exchange.response, 404, 'This job does not exist.')
  }
}

/** A signal that fires when the page no longer waits for the response. */
function whileOpen(response: ServerResponse): AbortSignal {
  const stop = new AbortController()
  response.once('close', () => stop.abort())
  return stop.signal
}

async function answerFolder({ query, cwd, response }: UiExchange): Promise<void> {
  try {
    sendJson(response, 200, await listFolder(query.get('path') || cwd))
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    sendError(response, 404, `The folder cannot be listed (${code}). Check its path, and that you may read it.`)
  }
}

async function answerWaveform({ query, response }: UiExchange): Promise<void> {
  const signal = whileOpen(response)
  const media = await probe(query.get('path') ?? '', { signal })
  const track = audioStreams(media)[Number(query.get('track') ?? 0)]
  if (!track) return sendError(response, 404, 'This track does not exist.')
  sendJson(response, 200, await soundPeaks(media, track, MOST_PEAKS, signal))
}

async function answerUpload({ request, response, query, uploadFolder }: UiExchange): Promise<void> {
  const path = await saveUpload(request, query.get('name') ?? '', uploadFolder)
  sendJson(response, 200, { path })
}

function viewOf(view: typeof checkView | typeof planView) {
  return async ({ request, response, configOf, cwd }: UiExchange): Promise<void> =>
    sendJson(response, 200, await view(await readJsonBody(request), configOf, cwd, whileOpen(response)))
}

async function answerStart({ request, response, board }: UiExchange): Promise<void> {
  sendJson(response, 200, board.start(await readJsonBody(request)))
}

async function answerPreview({ request, response, board, query }: UiExchange): Promise<void> {
  sendJson(response, 200, board.startPreview(await readJsonBody(request), Number(query.get('start') ?? Number.NaN)))
}

async function answerStop({ response, board }: UiExchange, { id }: UiJob): Promise<void> {
  await board.stop(id)
  sendJson(response, 200, board.get(id))
}

async function answerOpenFolder({ response, openFolder }: UiExchange, { output }: UiJob): Promise<void> {
  if (output === null) return sendError(response, 404, 'This job has no output yet.')
  if (await openFolder(dirname(output))) return sendJson(response, 200, { opened: true })
  sendError(response, 409, `This system has no program to open folders. The output is ${output}.`)
}

async function answerOutput({ request, response }: UiExchange, { output }: UiJob): Promise<void> {
  if (output === null) return sendError(response, 404, 'This job has no output yet.')
  response.setHeader('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(basename(output))}`)
  await sendFile(request, response, output, 'application/octet-stream')
}

async function answerComparison(exchange: UiExchange, job: UiJob): Promise<void> {
  await sendComparison(exchange, comparedJob(job), `api/jobs/${job.id}/comparison`)
}

function comparedJob(job: UiJob) {
  return { ...job, sources: [job.input] }
}

/**
 * Saves a file that was dropped on the page. A browser does not say where such a file lies, so its bytes are copied into
 * a private folder.
 *
 * @returns path of the copy
 * @throws {TransientError} `ERR_DISK_FULL`
 */
async function saveUpload(request: IncomingMessage, name: string, folder: string): Promise<string> {
  makeFolder(folder, 0o700)
  const own = await mkdtemp(join(folder, 'dropped-'))
  const safe = basename(name.replace(UNSAFE, '_')).replace(/^\.+/, '_').slice(-LONGEST_NAME) || 'dropped'
  const path = join(own, safe)
  try {
    await requireFreeSpace(new Map([[own, Number(request.headers['content-length'] ?? 0)]]))
    await pipeline(request, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    return path
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    throw error
  }
}
