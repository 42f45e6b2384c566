import { isEnded } from '../../src/ledger/jobs/job.js'
import { receiptSchema } from '../../src/pipeline/output/receipt.js'
import { serviceOf } from './outside/service-of.js'
import { databaseOf } from './outside/sqlite.js'
import { PLACES } from './places.js'
import { isOutputPath, type Promises } from './promises.js'
import { readMedia, sha256 } from './world/media-bytes.js'
import type { World } from './world/world.js'

interface JobRow {
  readonly id: string
  readonly status: Parameters<typeof isEnded>[0]
  readonly grp: string
  readonly input: string
  readonly output: string | null
  readonly error: string | null
}

/** True where no job of the watched folder waits or is in work. */
export function isAtRest(world: World): boolean {
  return rows<JobRow>(world, 'SELECT * FROM jobs').every(({ status, grp }) => grp === 'run' || isEnded(status))
}

/** What must be true when all is mended and has had its time. */
export function checkTheEnd(world: World, promises: Promises): void {
  const jobs = rows<JobRow>(world, 'SELECT * FROM jobs').filter(({ grp }) => grp === PLACES.watched)
  for (const { status, input, error } of jobs)
    if (!isEnded(status)) world.break('every job ends', `${input} is still ${status} (${codeOf(error)})`)
  const files = [...world.tree.allFiles()]
  const outputs = new Map(files.flatMap(([path, file]) => (isOutputPath(path) ? [[path, readMedia(file.bytes)]] : [])))
  const made = new Set([...outputs.values()].flatMap((media) => (media?.kind === 'output' ? [media.picture] : [])))
  for (const [path, file] of files) {
    const media = path.startsWith(`${PLACES.watched}/`) ? readMedia(file.bytes) : undefined
    if (media?.kind !== 'film' || made.has(media.picture)) continue
    const job = jobs.find(({ input }) => input === path)
    world.break('no film is lost', `${path} has no output; its job: ${job?.status ?? 'none'} (${codeOf(job?.error)})`)
  }
  checkOutputs(world, promises, new Map(files.map(([path, file]) => [path, file.bytes])))
  checkSpending(world)
  for (const { id, status, input } of jobs) {
    const model = promises.retried.get(id)
    const output = outputs.get(jobs.find((job) => job.id === id)?.output ?? '')
    if (status === 'done' && model && output?.kind === 'output' && !output.options.includes(`"${model}"`))
      world.break(
        'a retry uses the settings of now',
        `${input} was retried with ${model} and made with ${output.options}`,
      )
  }
}

/** Each output is of a film that lay under its name, and its receipt proves it. */
function checkOutputs(world: World, promises: Promises, files: ReadonlyMap<string, Buffer>): void {
  for (const [path, bytes] of files) {
    if (!path.startsWith(`${PLACES.out}/`) || !isOutputPath(path)) continue
    const media = readMedia(bytes)
    if (media?.kind !== 'output') continue
    const film = promises.films.get(media.picture)
    if (!film?.paths.has(path.replace(PLACES.out, PLACES.watched)))
      world.break('no film is done twice', `${path} is of a film that never had this name`)
    const text = files.get(`${path}.voxmux.json`)?.toString()
    const receipt = text === undefined ? undefined : receiptSchema.safeParse(JSON.parse(text)).data
    if (receipt?.output.sha256 !== sha256(bytes))
      world.break('every output has its receipt', `${path} has ${receipt ? 'the receipt of another file' : 'none'}`)
  }
}

/** What was paid for stands in the log of spending: as spent, or as reserved where its job ended before it knew. */
function checkSpending(world: World): void {
  const known = new Set(rows<{ id: string }>(world, 'SELECT id FROM spending').map(({ id }) => id))
  // Of a file that was lost before its start was answered, nobody can know that it was paid for.
  for (const { id, payments, isLost } of serviceOf(world).files.values())
    if (payments > 0 && !isLost && !known.has(id))
      world.break('no payment without a ledger entry', `${id} is not in the log of spending`)
}

function rows<T>(world: World, sql: string): T[] {
  return (databaseOf(world, PLACES.ledger)?.prepare(sql).all([]) ?? []) as T[]
}

function codeOf(error: string | null | undefined): string {
  return error ? String((JSON.parse(error) as { code: string }).code) : 'no fault'
}
