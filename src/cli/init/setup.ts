import type { ServiceManagerName } from '../../../plugins/watch-folder/index.js'
import { DEFAULT_PRESET, loadPreset, presetNames, serviceSchema } from '../../config/index.js'
import { type Choice, type Questions, unanswered } from '../terminal/questions.js'

/** The values of a remote service that are not secret, with the variables that may give them. */
const SERVICE_VARIABLES = {
  baseUrl: 'VOXMUX_BASE_URL',
  authUrl: 'VOXMUX_AUTH_URL',
  tenantId: 'VOXMUX_TENANT_ID',
  clientId: 'VOXMUX_CLIENT_ID',
  scope: 'VOXMUX_SCOPE',
} as const

/** The service managers of `--unit`. */
export const UNITS = ['none', 'systemd', 'launchd', 'windows'] as const satisfies readonly (
  | 'none'
  | ServiceManagerName
)[]
export const SERVICES = ['embedded', 'remote'] as const

/** Answers from the flags; undefined is still to be asked. */
interface InitFlags {
  readonly folder?: string | undefined
  readonly service?: (typeof SERVICES)[number] | undefined
  readonly preset?: string | undefined
  readonly unit?: (typeof UNITS)[number] | undefined
  readonly yes?: boolean | undefined
}

/** All answers. */
export interface Setup {
  readonly folder: string
  readonly preset: string
  readonly unit: (typeof UNITS)[number]
  /** The values of a remote service; null for the embedded one. */
  readonly remote: Readonly<Record<string, string>> | null
}

/**
 * Completes the flags: by questions, or by the defaults if `--yes` is given.
 *
 * @throws UsageError `ERR_INPUT_NEEDED` with the flags to pass; whatever a wrong preset throws
 */
export async function completeSetup(
  flags: InitFlags,
  { env, cwd, questions }: { env: NodeJS.ProcessEnv; cwd: string; questions: Questions | null },
): Promise<Setup> {
  const { yes } = flags
  const asked = yes ? null : questions
  if (!asked) refuseGaps(flags)
  if (flags.preset !== undefined) await loadPreset(flags.preset, cwd)
  const folder = flags.folder ?? (await (asked as Questions).text('Folder to watch', './voxmux'))
  const service = flags.service ?? (await asked?.choice('Which service regenerates the voice?', SERVICE_CHOICES))
  const remote = service === 'remote' ? await remoteValues(env, asked) : null
  const preset = flags.preset ?? (await asked?.choice('Which preset?', await presetChoices())) ?? DEFAULT_PRESET
  const unit = flags.unit ?? (await asked?.choice('Start it with the computer?', unitChoices())) ?? 'none'
  return { folder, preset, unit: UNITS.find((one) => one === unit) ?? 'none', remote }
}

function ownUnit(): ServiceManagerName {
  return process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'launchd' : 'systemd'
}

function refuseGaps({ yes, ...flags }: InitFlags): void {
  const needed = { folder: 'FOLDER', service: '--service embedded', preset: '--preset NAME', unit: '--unit none' }
  const gaps = Object.entries(needed).filter(
    ([name]) => flags[name as keyof typeof flags] === undefined && !(yes && name !== 'folder'),
  )
  const hint = gaps.length > 1 ? ['(or FOLDER --yes for the defaults)'] : []
  if (gaps.length > 0)
    throw unanswered(
      gaps.map(([name]) => name),
      [...gaps.map(([, flag]) => flag), ...hint],
    )
}

const SERVICE_CHOICES: readonly Choice[] = [
  { value: 'embedded', meaning: 'noise suppression on this computer, without an account' },
  { value: 'remote', meaning: 'a File Voice Regeneration Service, with an API key' },
]

async function presetChoices(): Promise<readonly Choice[]> {
  const names = await presetNames()
  const ordered = [DEFAULT_PRESET, ...names.filter((name) => name !== DEFAULT_PRESET)]
  return Promise.all(
    ordered.map(async (value) => ({ value, meaning: (await loadPreset(value)).preset.description ?? '' })),
  )
}

function unitChoices(): readonly Choice[] {
  return [
    { value: 'none', meaning: 'no, I start `voxmux watch` myself' },
    { value: ownUnit(), meaning: 'yes, write the file and show the commands that install it' },
  ]
}

async function remoteValues(env: NodeJS.ProcessEnv, asked: Questions | null): Promise<Record<string, string>> {
  const missing = Object.values(SERVICE_VARIABLES).filter((variable) => !env[variable])
  if (!asked && missing.length > 0)
    throw unanswered(
      missing,
      missing.map((variable) => `${variable}=…`),
    )
  const values: Record<string, string> = {}
  for (const [key, variable] of Object.entries(SERVICE_VARIABLES))
    values[key] = env[variable] || (await (asked as Questions).text(describeKey(key as keyof typeof SERVICE_VARIABLES)))
  return values
}

function describeKey(key: keyof typeof SERVICE_VARIABLES): string {
  return (serviceSchema.shape[key].meta()?.description ?? key).replace(/\.$/, '')
}
