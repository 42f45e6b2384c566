import { commandFacts, type OptionFacts } from '../../src/cli/arguments/option-facts.js'
import { COMMANDS } from '../../src/cli/command-table.js'
import { EXIT_CODES } from './exit-codes.js'

/** The manual page `voxmux(1)`, from the same declarations as `--help`. */
export async function manPage(): Promise<string> {
  const sections = await Promise.all(
    COMMANDS.map(async ({ name, usage, summary, load }) => {
      const { command } = await load()
      const { flags } = await commandFacts(command)
      return [
        `.SS voxmux ${escaped(`${name} ${usage}`.trim())}`,
        escaped(summary),
        ...flags.flatMap(entry),
        ...command.examples.flatMap(([line, meaning]) => [
          '.P',
          `Example: \\fBvoxmux ${escaped(`${name} ${line}`.trim())}\\fR \\(em ${escaped(meaning)}`,
        ]),
      ]
    }),
  )
  return `${[
    '.TH VOXMUX 1 "" "voxmux" "User Commands"',
    '.SH NAME',
    'voxmux \\- regenerate the voice in a video or audio file and change nothing else',
    '.SH SYNOPSIS',
    '\\fBvoxmux\\fR \\fIinput\\fR ...',
    '.br',
    '\\fBvoxmux\\fR \\fIcommand\\fR [\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    'Without a command, voxmux runs \\fBvoxmux run\\fR.',
    '.SH COMMANDS',
    ...sections.flat(),
    '.SH EXIT STATUS',
    ...Object.entries(EXIT_CODES).flatMap(([code, [meaning, next]]) => ['.TP', code, escaped(`${meaning} ${next}`)]),
  ].join('\n')}\n`
}

function entry({ name, alias, describe, takesValue, values, default: value }: OptionFacts): readonly string[] {
  const flags = [...(alias === '' ? [] : [`-${alias}`]), `--${name}`].map((flag) => `\\fB${escaped(flag)}\\fR`)
  const taken = takesValue ? ` \\fI${escaped(values.length > 0 ? values.join('|') : 'VALUE')}\\fR` : ''
  return [
    '.TP',
    `${flags.join(', ')}${taken}`,
    `${escaped(describe)}${value === undefined ? '' : ` (default ${escaped(value)})`}.`,
  ]
}

/** Hides what roff would take for a command or a special character. */
function escaped(text: string): string {
  const plain = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('`', '')
    .replace(/[^ -~]/g, (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`)
  return /^[.']/.test(plain) ? `\\&${plain}` : plain
}
