import { chownSync, existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { checkSchema, resolveConfig, settingsSchema } from '../../config/index.js'
import { findUserFolders, SYSTEM_STATE_FOLDER } from '../../config/state-folder.js'
import { UsageError } from '../../core/errors.js'
import { makeFolder, reasonAgainstFolder } from '../../core/make-folder.js'
import { shellWord } from '../../core/shell-word.js'
import { text, toggle } from '../arguments/option.js'
import { RUN_OPTIONS } from '../arguments/run-options.js'
import { defineCommand } from '../command.js'
import { completeSetup, SERVICES, type Setup, UNITS } from '../init/setup.js'
import { canAsk, openQuestions } from '../terminal/questions.js'

/** Port of the dashboard, as in the files of `plugins/watch-folder/deploy`. */
const DASHBOARD_PORT = 8780

/** `voxmux init [folder]` */
export const command = defineCommand({
  positionals: '[folder]',
  examples: [
    ['', 'answer four questions, and get a configuration'],
    ['./in --yes', 'watch ./in with the defaults, without a question'],
    ['/srv/in --config /etc/voxmux/watch.json --unit systemd --yes', 'write a system service as well'],
  ],
  build: (parser) =>
    parser
      .positional('folder', { type: 'string', describe: 'Folder to watch; it is created if it does not exist' })
      .option('service', { choices: SERVICES, describe: 'Service that regenerates the voice (default: embedded)' })
      .option('preset', RUN_OPTIONS.preset)
      .option('unit', { choices: UNITS, describe: 'Write a file for this service manager (default: none)' })
      .option('config', text('Configuration file to write (default: your own config.json)'))
      .option('yes', { alias: 'y', type: 'boolean', describe: 'Accept the defaults instead of asking' })
      .option('no-input', toggle('Never ask; refuse if an answer is missing'))
      .option('json', toggle('Print events as JSON lines on stdout')),
  run: async (args, context) => {
    const { cwd, env, output, signal } = context
    const config = await configPath(args.config, cwd)
    const questions = canAsk(output, args['no-input']) ? openQuestions(signal) : null
    const setup = await completeSetup(args, { env, cwd, questions }).finally(() => questions?.close())
    const folder = resolve(cwd, setup.folder)
    if (makePlace(folder)) giveToCaller(folder, env)
    const { user, isOther } = serviceOwner(folder, env)
    const ownState = isOther && setup.unit === 'systemd' ? SYSTEM_STATE_FOLDER : undefined
    await writeNew(config, configText(setup, { folder, stateDir: ownState, path: config }))
    const { stateDir } = await resolveConfig({ cwd, env, configPath: config })
    const unit = setup.unit === 'none' ? null : await writeUnit(setup.unit, { config, folder, stateDir, user })
    output.event({ event: 'initialized', config, folder, unit: unit?.path ?? null })
    output.print(nextSteps(setup, config, folder, unit))
    output.result({ exitCode: 0 })
    return 0
  },
})

/**
 * @returns whether it is new
 * @throws UsageError `ERR_WATCH_FOLDER`
 */
function makePlace(folder: string): boolean {
  try {
    return makeFolder(folder).length > 0
  } catch (cause) {
    const reason = reasonAgainstFolder(cause)
    if (reason === undefined) throw cause
    throw new UsageError('ERR_WATCH_FOLDER', `The folder ${folder} cannot be created: ${reason}.`, {
      cause,
      remedies: ['Name another folder, or create it first.'],
    })
  }
}

async function configPath(named: string | undefined, cwd: string): Promise<string> {
  const own = (await findUserFolders()).config
  if (named === undefined && own === null)
    throw new UsageError('ERR_CONFIG_MISSING', 'This user has no home folder for a configuration.', {
      remedies: ['Name the file to write with --config FILE.'],
    })
  const path = named === undefined ? join(own ?? '', 'config.json') : resolve(cwd, named)
  if (existsSync(path)) throw existing(path)
  return path
}

function configText(
  { preset, remote }: Setup,
  { folder, stateDir, path }: { folder: string; stateDir: string | undefined; path: string },
): string {
  const settings = {
    service: remote ?? undefined,
    stateDir,
    watch: { dashboard: { port: DASHBOARD_PORT }, folders: [{ path: folder, preset }] },
  }
  return `${JSON.stringify(checkSchema(settingsSchema, settings, path), null, 2)}\n`
}

/** @throws UsageError `ERR_CONFIG_EXISTS`: nothing of an existing configuration is replaced */
async function writeNew(path: string, text: string): Promise<void> {
  makePlace(dirname(path))
  await writeFile(path, text, { flag: 'wx', flush: true }).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EEXIST' ? existing(path) : cause
  })
}

function existing(path: string): UsageError {
  return new UsageError('ERR_CONFIG_EXISTS', `${path} exists already and is not replaced.`, {
    input: path,
    remedies: ['Edit it, or name another file with --config.'],
  })
}

async function writeUnit(
  unit: Exclude<Setup['unit'], 'none'>,
  { config, folder, stateDir, user }: { config: string; folder: string; stateDir: string; user: string },
) {
  const { serviceFile } = await import('../../../plugins/watch-folder/index.js')
  const file = serviceFile(unit, {
    voxmux: [process.execPath, process.argv[1] ?? 'voxmux'],
    ...{ config, stateDir, writes: [folder], user },
    environment: join(dirname(config), 'environment'),
  })
  const path = join(dirname(config), file.name)
  await writeNew(path, file.text)
  return { path, install: file.install(path), user }
}

function nextSteps(
  { remote }: Setup,
  config: string,
  folder: string,
  unit: Awaited<ReturnType<typeof writeUnit>> | null,
): string {
  const secret = remote
    ? [
        `The secret is not in it. Set VOXMUX_CLIENT_SECRET. A service reads it from ${join(dirname(config), 'environment')}.`,
      ]
    : []
  const start = unit?.install ?? [`voxmux watch --config ${shellWord(config)}`]
  return [
    `Wrote ${config}.`,
    ...(unit === null ? [] : [`The service runs as ${unit.user}.`]),
    ...secret,
    `Check it:  voxmux doctor --config ${shellWord(config)}`,
    ...start.map((line, index) => `${index === 0 ? 'Start it: ' : '          '} ${line}`),
    `Then drop a file into ${folder}. Finished files appear in ${join(folder, 'out')}.`,
  ].join('\n')
}

/** Gives a new folder to the person who called sudo: root's own folder would take no file of theirs. */
function giveToCaller(folder: string, { SUDO_UID, SUDO_GID }: NodeJS.ProcessEnv): void {
  const [uid, gid] = [Number(SUDO_UID), Number(SUDO_GID)]
  if (process.getuid?.() === 0 && Number.isInteger(uid) && Number.isInteger(gid)) chownSync(folder, uid, gid)
}

/**
 * The user of a service that writes into a folder: of root's services the folder's owner. The unit takes all
 * privileges away, and without them root cannot write into the folder of another.
 *
 * @returns its name, or its number, which systemd takes too; `isOther` if the state folder of this user is closed to it
 */
function serviceOwner(folder: string, { SUDO_UID, SUDO_USER }: NodeJS.ProcessEnv) {
  const { uid } = statSync(folder)
  if (process.getuid?.() !== 0 || uid === 0) return { user: userInfo().username, isOther: false }
  return { user: SUDO_USER !== undefined && SUDO_UID === String(uid) ? SUDO_USER : String(uid), isOther: true }
}
