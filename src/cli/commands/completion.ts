import { basename } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { defineCommand } from '../command.js'
import { completionScript, SHELLS, type Shell } from '../completion-script.js'
import { flagNames } from '../flag-names.js'

/** `voxmux completion [shell]` */
export const command = defineCommand({
  positionals: '[shell]',
  examples: [
    ['bash >> ~/.bashrc', 'complete commands and flags in bash'],
    ['zsh >> ~/.zshrc', 'the same in zsh'],
    ['fish > ~/.config/fish/completions/voxmux.fish', 'and in fish'],
  ],
  build: (parser) => parser.positional('shell', { choices: SHELLS, describe: 'Default: the shell that is in use' }),
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
  throw new UsageError('ERR_USAGE', `Which shell? \`voxmux completion\` knows ${SHELLS.join(', ')}.`)
}
