import { basename } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { flagNames } from '../arguments/flag-names.js'
import { defineCommand } from '../command.js'
import { completionScript, SHELLS, type Shell } from '../show/completion-script.js'

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
