/**
 * A glob as a pattern for whole paths with `/` between folders: `*` and `?` stay within a name, `**` crosses folders,
 * `{a,b}` are alternatives. A glob without a slash is meant for the name alone, in whatever folder it lies.
 */
export function globPattern(glob: string): RegExp {
  const anywhere = glob.includes('/') ? '' : '(?:.*/)?'
  const parts = glob.match(/\*\*\/|\*\*|\*|\?|\{[^{}/]*\}|./gsu) ?? []
  return new RegExp(`^${anywhere}${parts.map(part).join('')}$`, 'su')
}

function part(token: string): string {
  switch (token) {
    case '**/':
      return '(?:.*/)?'
    case '**':
      return '.*'
    case '*':
      return '[^/]*'
    case '?':
      return '[^/]'
    default:
      return token.length > 1 && token.startsWith('{') ? alternatives(token) : literal(token)
  }
}

function alternatives(token: string): string {
  const options = token.slice(1, -1).split(',')
  return `(?:${options
    .map(
      (option) =>
        option
          .match(/\*|\?|./gsu)
          ?.map(part)
          .join('') ?? '',
    )
    .join('|')})`
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
