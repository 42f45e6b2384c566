export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command with the words that a shell completes. */
export interface Completable {
  readonly name: string
  readonly summary: string
  /** Without hyphens. */
  readonly flags: readonly string[]
}

/** Builds a script that completes commands, flags and files without calling voxmux. */
export function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`
    case 'fish':
      return fish(commands)
    default:
      return shell satisfies never
  }
}

function bash(commands: readonly Completable[]): string {
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

function fish(commands: readonly Completable[]): string {
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
