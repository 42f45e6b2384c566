import type { CommandEntry } from '../command.js'

const HEAD = `voxmux regenerates the voice in a video or audio file and changes nothing else.

Usage:
  voxmux <input…>            same as \`voxmux run <input…>\`
  voxmux <command> --help    options and examples of a command

Commands:
`

const TAIL = `
Examples:
  voxmux clip.mov                                    save clip.regen.mov and its receipt beside clip.mov
  voxmux run talk.mp4 -o clean.mp4 --preset podcast  choose the output and a preset
  voxmux check *.mxf --json                          report as JSON what would be refused

Exit codes: 0 done · 1 failed · 2 usage · 3 still running · 4 try again · 5 refused · 6 access · 7 not verified
`

/** The text of \`voxmux --help\`. */
export function overview(commands: readonly CommandEntry[]): string {
  const names = commands.map(({ name, usage }) => `${name} ${usage}`.trim())
  const width = Math.max(...names.map((name) => name.length)) + 4
  const lines = commands.map(({ summary }, index) => `  ${(names[index] ?? '').padEnd(width)}${summary}\n`)
  return HEAD + lines.join('') + TAIL
}
