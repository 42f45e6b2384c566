import type { MasterEntry } from './playlist.js'
import type { HlsPackage } from './read-package.js'
import type { RewrittenRendition } from './rewrite-rendition.js'

/**
 * The master's lines: if new sound needs more bandwidth than the old, that of its variants goes up by as much.
 *
 * @param locate path of an address that the master names
 */
export function rewriteMaster(
  { masterPlaylist: { lines, entries } }: HlsPackage,
  rewritten: readonly RewrittenRendition[],
  locate: (uri: string) => string,
): readonly string[] {
  const byPath = new Map(rewritten.map((item) => [item.rendition.path, item]))
  const soundsOf = ({ attributes, uri }: MasterEntry) => {
    const group = entries.filter(
      ({ tag, attributes: own }) => tag === 'EXT-X-MEDIA' && own.get('GROUP-ID') === attributes.get('AUDIO'),
    )
    const uris = [...group.map((entry) => entry.uri), uri]
    return uris.flatMap((address) => (address === null ? [] : (byPath.get(locate(address)) ?? [])))
  }
  const out = [...lines]
  for (const entry of entries.filter(({ tag }) => tag === 'EXT-X-STREAM-INF')) {
    const sounds = soundsOf(entry)
    const more = (rate: 'peak' | 'mean') =>
      Math.max(0, ...sounds.map(({ before, after }) => after[rate] - before[rate]))
    out[entry.line] = raise(
      raise(lines[entry.line] as string, 'BANDWIDTH', more('peak')),
      'AVERAGE-BANDWIDTH',
      more('mean'),
    )
  }
  return out
}

function raise(line: string, attribute: string, by: number): string {
  const pattern = new RegExp(`([:,]\\s*${attribute}=)(\\d+)`)
  return line.replace(pattern, (_, name: string, value: string) => `${name}${Number(value) + Math.ceil(by)}`)
}
