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

Exit codes: 0 done · 1 failed · 2 usage · 3 still running · 4 try again
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
  const lines = commands.map(({ summary }, index) => {
    const [first, ...more] = wrapped(summary, columns - indent - 1)
    const begun = `  ${names[index]}`.padEnd(indent) + first
    return `${[begun, ...more.map((line) => ' '.repeat(indent) + line)].join('\n')}\n`
  })
  return HEAD + lines.join('') + TAIL
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
