import { basename } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { type CommandFacts, commandFacts, type OptionFacts } from '../arguments/option-facts.js'
import { type CommandEntry, defineCommand } from '../command.js'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** `voxmux completion [shell]` */
export const command = defineCommand({
  positionals: '[shell]',
  examples: [
    ['bash >> ~/.bashrc', 'complete commands, flags and values in bash'],
    ['zsh >> ~/.zshrc', 'complete commands, flags and values in zsh'],
    ['fish > ~/.config/fish/completions/voxmux.fish', 'complete commands, flags and values in fish'],
    ['powershell >> $PROFILE', 'complete commands, flags and values in PowerShell'],
  ],
  build: (parser) => parser.positional('shell', { choices: SHELLS, describe: 'The shell (default: the one in use)' }),
  run: async ({ shell }, { commands: entries, env, output }) => {
    const commands = await Promise.all(
      entries.map(async ({ name, summary, load }) => ({
        ...{ name, summary },
        ...(await commandFacts((await load()).command)),
      })),
    )
    output.print(completionScript(shell ?? currentShell(env), commands))
    return 0
  },
})

function currentShell({ SHELL = '' }: NodeJS.ProcessEnv): Shell {
  const found = SHELLS.find((shell) => shell === basename(SHELL))
  if (found) return found
  throw new UsageError('ERR_USAGE', 'Which shell? The environment variable SHELL names none that is supported.', {
    remedies: [`Name one of ${SHELLS.join(', ')}: \`voxmux completion bash\`.`],
  })
}

type Shell = (typeof SHELLS)[number]

/** A command with the words that a shell completes. */
type Completable = CommandFacts & Pick<CommandEntry, 'name' | 'summary'>

/** The actions of `voxmux jobs` that take ids of jobs. */
const ID_ACTIONS = ['show', 'retry', 'forget']
/** Offered at most. The newest are listed first. */
const MOST_IDS = 50

/** Builds a script that completes commands, flags, values and files. It calls voxmux only for the ids of jobs. */
function completionScript(shell: Shell, commands: readonly Completable[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands)
    case 'zsh':
      // A zsh without a configuration of its own, as on macOS, has not switched its completion on.
      return `(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }
autoload -U +X bashcompinit && bashcompinit
${bashScript(commands)}`
    case 'fish':
      return fishScript(commands)
    case 'powershell':
      return powershellScript(commands)
    default:
      return shell satisfies never
  }
}

function bashScript(commands: readonly Completable[]): string {
  const cases = commands.flatMap(({ name, flags, operands }) => [
    `    ${name}:) words="${words(operands)}" flags="${dashed(flags)}" ;;`,
    ...valued(flags).map((flag) => `    ${spellings(name, flag)}) words="${flag.values.join(' ')}" ;;`),
  ])
  return `_voxmux() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words="" flags=""
  [[ $word == = ]] && word=
  [[ $before == = ]] && before="\${COMP_WORDS[COMP_CWORD-2]}"
  case " ${names(commands)} " in
    *" $command "*) ;;
    *) command=run ;;
  esac
  _voxmux_words "$command:$before"
  if [[ -z $words && $COMP_CWORD -gt 2 && $word != -* && "$command \${COMP_WORDS[2]}" =~ ^jobs\\ (${ID_ACTIONS.join('|')})$ ]]; then
    words="$("\${COMP_WORDS[0]}" jobs list --limit ${MOST_IDS} --json 2>/dev/null |
      sed -n 's/^{"event":"job","schemaVersion":[0-9]*,"id":"\\([^"]*\\)".*/\\1/p')"
  fi
  if [[ -z $words ]]; then _voxmux_words "$command:"; fi
  COMPREPLY=()
  if [[ $word == -* ]]; then
    _voxmux_words "$command:"
    COMPREPLY=( $(compgen -W "$flags" -- "$word") )
  elif [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=( $(compgen -W "${names(commands)}" -- "$word") )
  else
    COMPREPLY=( $(compgen -W "$words" -- "$word") )
  fi
}
_voxmux_words() {
  case "$1" in
${cases.join('\n')}
  esac
}
complete -o default -o bashdefault -F _voxmux voxmux`
}

function fishScript(commands: readonly Completable[]): string {
  const ids = `voxmux jobs list --limit ${MOST_IDS} --json 2>/dev/null | string replace -rf '^\\{"event":"job","schemaVersion":\\d+,"id":"([^"]+)".*' '$1'`
  const ofId = `complete -c voxmux -n '__fish_seen_subcommand_from jobs; and __fish_seen_subcommand_from ${ID_ACTIONS.join(' ')}'`
  return commands
    .flatMap(({ name, summary, flags, operands }) => [
      `complete -c voxmux -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...(words(operands) === '' ? [] : [`${ofCommand(name)} -a ${quoted(words(operands))}`]),
      ...flags.map(({ name: flag, describe, takesValue, values }) => {
        const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : ''
        return `${ofCommand(name)} -l ${flag}${value} -d ${quoted(describe)}`
      }),
    ])
    .concat(`${ofId} -a "(${ids.replaceAll('"', '\\"').replaceAll('$', '\\$')})"`)
    .join('\n')
}

function spellings(name: string, flag: OptionFacts): string {
  return [`${name}:--${flag.name}`, ...(flag.alias === '' ? [] : [`${name}:-${flag.alias}`])].join('|')
}

function ofCommand(name: string): string {
  return `complete -c voxmux -n '__fish_seen_subcommand_from ${name}'`
}

function powershellScript(commands: readonly Completable[]): string {
  const list = (texts: readonly string[]) => `@(${texts.map((text) => `'${text}'`).join(', ')})`
  const rows = commands.flatMap(({ name, flags, operands }) => [
    `    '${name}:flags' = ${list(flags.map((flag) => `--${flag.name}`))}`,
    `    '${name}:' = ${list(operands.flatMap(({ values }) => values))}`,
    ...valued(flags).map((flag) => `    '${name}:--${flag.name}' = ${list(flag.values)}`),
  ])
  return `Register-ArgumentCompleter -Native -CommandName voxmux -ScriptBlock {
  param($word, $ast, $cursor)
  $known = @{
${rows.join('\n')}
  }
  $commands = ${list(commands.map(({ name }) => name))}
  $typed = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $command = if ($typed.Count -gt 1 -and $commands -contains $typed[1]) { $typed[1] } else { 'run' }
  $isId = $typed.Count -gt 2 -and $command -eq 'jobs' -and ${list(ID_ACTIONS)} -contains $typed[2]
  $offered = if ($word -like '-*') { $known["$command\`:flags"] }
    elseif ($typed.Count -le 1) { $commands }
    elseif ($known.ContainsKey("$command\`:$($typed[-1])")) { $known["$command\`:$($typed[-1])"] }
    elseif ($isId) {
      & $typed[0] jobs list --limit ${MOST_IDS} --json 2>$null | ConvertFrom-Json | Where-Object event -eq 'job' | ForEach-Object id
    }
    else { $known["$command\`:"] }
  $offered | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`
}

function names(commands: readonly Completable[]): string {
  return commands.map(({ name }) => name).join(' ')
}

function words(operands: CommandFacts['operands']): string {
  return operands.flatMap(({ values }) => values).join(' ')
}

function valued(flags: CommandFacts['flags']): CommandFacts['flags'] {
  return flags.filter(({ values }) => values.length > 0)
}

function dashed(flags: CommandFacts['flags']): string {
  return flags.map(({ name }) => `--${name}`).join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`
}
