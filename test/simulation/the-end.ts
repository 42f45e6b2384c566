import { isEnded } from '../../src/ledger/jobs/job.js'
import { type Receipt, receiptSchema } from '../../src/pipeline/output/receipt.js'
import { rowsOf } from './outside/sqlite.js'
import { PLACES } from './places.js'
import { isOutputPath, type Promises } from './promises.js'
import { checkSpending } from './spending.js'
import { codeOf } from './waiting.js'
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

/** What must be true when all is mended and has had its time. */
export function checkTheEnd(world: World, promises: Promises): void {
  const jobs = rowsOf<JobRow>(world, 'SELECT * FROM jobs').filter(({ grp }) => grp === PLACES.watched)
  for (const { status, input, error } of jobs)
    if (!isEnded(status)) world.break('every job ends', `${input} is still ${status} (${codeOf(error)})`)
  for (const path of filmsWithout(world, [PLACES.watched, PLACES.desk])) {
    const job = jobs.find(({ input }) => input === path)
    world.break('no film is lost', `${path} has no output; its job: ${job?.status ?? 'none'} (${codeOf(job?.error)})`)
  }
  const files = [...world.tree.allFiles()]
  const outputs = new Map(files.flatMap(([path, file]) => (isOutputPath(path) ? [[path, readMedia(file.bytes)]] : [])))
  const bytesOf = new Map(files.map(([path, file]) => [path, file.bytes]))
  checkOutputs(world, promises, bytesOf)
  checkSpending(world)
  for (const { id, status, input } of jobs) {
    const model = promises.retried.get(id)
    const path = jobs.find((job) => job.id === id)?.output ?? ''
    const output = receiptOf(bytesOf, path)?.job === id ? outputs.get(path) : undefined
    if (status === 'done' && model && output?.kind === 'output' && !output.options.includes(`"${model}"`))
      world.break(
        'a retry uses the settings of now',
        `${input} was retried with ${model} and made with ${output.options}`,
      )
  }
}

/** Paths of the films below some folders that no output is made of. */
export function filmsWithout(world: World, folders: readonly string[]): readonly string[] {
  const media = [...world.tree.allFiles()].map(([path, file]) => [path, readMedia(file.bytes)] as const)
  const made = new Set(
    media.flatMap(([path, one]) => (one?.kind === 'output' && isOutputPath(path) ? [one.picture] : [])),
  )
  return media.flatMap(([path, one]) =>
    one?.kind === 'film' && !made.has(one.picture) && folders.some((folder) => path.startsWith(`${folder}/`))
      ? [path]
      : [],
  )
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
    const receipt = receiptOf(files, path)
    if (receipt?.output.sha256 !== sha256(bytes))
      world.break('every output has its receipt', `${path} has ${receipt ? 'the receipt of another file' : 'none'}`)
  }
}

function receiptOf(files: ReadonlyMap<string, Buffer>, output: string): Receipt | undefined {
  const text = files.get(`${output}.voxmux.json`)?.toString()
  return text === undefined ? undefined : receiptSchema.safeParse(JSON.parse(text)).data
}
