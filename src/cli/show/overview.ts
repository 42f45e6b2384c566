import type { CommandEntry } from '../command.js'

const HEAD = `voxmux regenerates the voice in a video or audio file and changes nothing else.

Usage:
  voxmux <input…>            same as \`voxmux run <input…>\`
  voxmux <command> --help    options and examples of a command

Commands:
`

const TAIL = `
Examples:
  voxmux clip.mov              save clip.regen.mov and its receipt beside it
  voxmux talk.mp4 -p podcast   regenerate the voice and bring it to -16 LUFS
  voxmux check *.mxf --json    report as JSON what would be refused

Exit codes:  0 done · 1 failed · 2 usage · 3 still running · 4 try again
             5 refused · 6 access · 7 not verified · 130 stopped
`

/**
 * The text of `voxmux --help`.
 *
 * @param columns width of the terminal, in characters
 */
export function overview(commands: readonly CommandEntry[], columns = Number.POSITIVE_INFINITY): string {
  const names = commands.map(({ name, usage }) => `${name} ${usage}`.trim())
  const indent = Math.max(...names.map((name) => name.length)) + 4
  const lines = commands.map(({ summary }, index) => `  ${names[index]}`.padEnd(indent) + summary)
  const text = `${HEAD}${lines.join('\n')}\n${TAIL}`
  return text
    .split('\n')
    .map((line) => folded(line, columns))
    .join('\n')
}

/** Breaks a line between words. The text behind its last gap stays in its column. */
function folded(line: string, columns: number): string {
  const indent = Math.max(0, line.search(/(?<=\s{2})\S(?!.*\s{2})/))
  return line.slice(0, indent) + wrapped(line.slice(indent), columns - indent - 1).join(`\n${' '.repeat(indent)}`)
}

/** Breaks a text between words, into lines of at most this many characters if its words allow. */
function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || longer.length <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
