import { readFileSync } from 'node:fs'
import { SYSTEM_STATE_FOLDER } from '../../src/config/state-folder.js'
import { PACKAGE_FOLDER } from '../../src/core/package-folder.js'
import { shellWord } from '../../src/core/shell-word.js'

/** The service managers that have a file in `deploy`. */
export type ServiceManagerName = 'systemd' | 'launchd' | 'windows'

/** The values of a service. Paths are absolute. */
interface ServiceValues {
  /** Program and first arguments that start voxmux. */
  readonly voxmux: readonly string[]
  readonly config: string
  /** File with one `NAME=value` a line. It holds the secret of a remote service. */
  readonly environment: string
  readonly stateDir: string
  readonly writes: readonly string[]
  readonly user: string
}

/** A file for a service manager, and the commands that install it. */
interface ServiceFile {
  readonly name: string
  readonly text: string
  /** @param path of the file as it was saved */
  readonly install: (path: string) => readonly string[]
}

/** The service of `voxmux watch`: a file of `deploy`, with the values of this machine. */
export function serviceFile(manager: ServiceManagerName, values: ServiceValues): ServiceFile {
  switch (manager) {
    case 'systemd':
      return {
        name: 'voxmux-watch.service',
        text: systemdUnit(values),
        install: (path) => [
          `sudo install -m 0644 ${shellWord(path)} /etc/systemd/system/voxmux-watch.service`,
          'sudo systemctl daemon-reload',
          'sudo systemctl enable --now voxmux-watch',
        ],
      }
    case 'launchd':
      return {
        name: 'voxmux.watch.plist',
        text: filled('voxmux.watch.plist', values, xmlText, (words) =>
          words.map((word) => `<string>${xmlText(word)}</string>`).join('\n    '),
        ),
        install: (path) => [
          `cp ${shellWord(path)} ~/Library/LaunchAgents/`,
          'launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/voxmux.watch.plist',
        ],
      }
    case 'windows':
      return {
        name: 'voxmux-watch.ps1',
        text: filled('voxmux-watch.ps1', values, powershellText, (words) =>
          words.map((word) => `'"${powershellText(word)}"'`).join(', '),
        ),
        install: (path) => [`powershell -ExecutionPolicy Bypass -File "${path}"`],
      }
    default:
      return manager satisfies never
  }
}

/** Folders that PrivateTmp replaces. */
const BELOW_TMP = /^\/(?:var\/)?tmp(?:\/|$)/

/** The hardened unit of `deploy` with this user, configuration and state folder. */
function systemdUnit({ voxmux, config, environment, stateDir, writes, user }: ServiceValues): string {
  const lines: Readonly<Record<string, string>> = {
    // Only here are there variables, so only here a `$` is doubled.
    ExecStart: [...voxmux, 'watch', '--config', config].map((word) => unitWord(word.replaceAll('$', '$$$$'))).join(' '),
    EnvironmentFile: `-${environment.replaceAll('%', '%%')}`,
    Environment: `${unitWord(`VOXMUX_STATE_DIR=${stateDir}`)} NODE_ENV=production`,
    User: user,
    ReadWritePaths: [stateDir, ...writes].map((path) => unitWord(`-${path}`)).join(' '),
    // The configuration and the folders may be below /home. Only the named folders can be written to.
    ProtectHome: 'read-only',
    // A private /tmp would hide what lies there.
    PrivateTmp: [...voxmux, config, stateDir, ...writes].some((path) => BELOW_TMP.test(path)) ? 'no' : 'yes',
  }
  // systemd makes that folder, and gives it to the user.
  const isMadeBySystemd = stateDir === SYSTEM_STATE_FOLDER
  return Object.entries(lines)
    .reduce(
      (unit, [key, value]) => unit.replace(new RegExp(`^${key}=.*$`, 'm'), () => `${key}=${value}`),
      template('voxmux-watch.service'),
    )
    .replace(isMadeBySystemd ? /^Group=.*\n/m : /^(Group|StateDirectory|StateDirectoryMode)=.*\n/gm, '')
}

/** A template of `deploy` with its `{{NAME}}` marks replaced. */
function filled(
  name: string,
  { voxmux, config, stateDir, user }: ServiceValues,
  escaped: (text: string) => string,
  list: (words: readonly string[]) => string,
): string {
  const values: Readonly<Record<string, string>> = {
    COMMAND: list([...voxmux, 'watch', '--config', config]),
    STATE_DIR: escaped(stateDir),
    USER: escaped(user),
  }
  return template(name).replace(/\{\{(\w+)\}\}/g, (_, mark: string) => values[mark] ?? '')
}

function template(name: string): string {
  return readFileSync(new URL(`plugins/watch-folder/deploy/${name}`, PACKAGE_FOLDER), 'utf8')
}

/** A quoted word of a unit, without specifiers. */
function unitWord(word: string): string {
  const plain = word.replaceAll('%', '%%')
  return /[\s"'\\]/.test(plain) ? `"${plain.replace(/["\\]/g, '\\$&')}"` : plain
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function powershellText(text: string): string {
  return text.replaceAll("'", "''")
}
