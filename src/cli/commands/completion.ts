import { basename } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { flagNames } from '../arguments/flag-names.js'
import { defineCommand } from '../command.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** `voxmux completion [shell]` */
export const command = defineCommand({
  positionals: '[shell]',
  examples: [
    ['bash >> ~/.bashrc', 'complete commands and flags in bash'],
    ['zsh >> ~/.zshrc', 'complete commands and flags in zsh'],
    ['fish > ~/.config/fish/completions/voxmux.fish', 'complete commands and flags in fish'],
  ],
  build: (parser) => parser.positional('shell', { choices: SHELLS, describe: 'The shell (default: the one in use)' }),
  run: async ({ shell }, { commands: entries, env, output }) => {
    const commands = await Promise.all(
      entries.map(async ({ name, summary, load }) => ({ name, summary, flags: flagNames((await load()).command) })),
    )
    output.print(completionScript(shell ?? currentShell(env), commands))
    return 0
  },
})

function currentShell({ SHELL = '' }: NodeJS.ProcessEnv): Shell {
  const found = SHELLS.find((shell) => shell === basename(SHELL))
  if (found) return found
  throw new UsageError(
    'ERR_USAGE',
    `voxmux could not detect your shell. Name one: \`voxmux completion\` supports ${SHELLS.join(', ')}.`,
  )
}

type Shell = (typeof SHELLS)[number]

/** A command with the words that a shell completes. */
interface Completable {
  readonly name: string
  readonly summary: string
  /** Without hyphens. */
  readonly flags: readonly string[]
}

/** Builds a script that completes commands, flags and files without calling voxmux. */
function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`
    case 'fish':
      return fishScript(commands)
    default:
      return shell satisfies never
  }
}

function bashScript(commands: readonly Completable[]): string {
  const cases = commands.map(({ name, flags }) => `    ${name}) flags="${dashed(flags)}" ;;`)
  const bare = commands.find(({ name }) => name === 'run')?.flags ?? []
  return `_voxmux() {
  local word="\${COMP_WORDS[COMP_CWORD]}" flags
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) flags="${dashed(bare)}" ;;
  esac
  COMPREPLY=()
  if [[ $word == -* ]]; then
    COMPREPLY=( $(compgen -W "$flags" -- "$word") )
  elif [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=( $(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word") )
  fi
}
complete -o default -o bashdefault -F _voxmux voxmux`
}

function fishScript(commands: readonly Completable[]): string {
  return commands
    .flatMap(({ name, summary, flags }) => [
      `complete -c voxmux -n __fish_use_subcommand -a ${name} -d '${summary.replaceAll("'", "\\'")}'`,
      ...flags.map((flag) => `complete -c voxmux -n '__fish_seen_subcommand_from ${name}' -l ${flag}`),
    ])
    .join('\n')
}

function dashed(flags: readonly string[]): string {
  return flags.map((flag) => `--${flag}`).join(' ')
}
