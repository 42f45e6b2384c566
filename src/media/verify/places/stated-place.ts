/** A place in a file, or a time, that an index states. */
export interface StatedPlace {
  /** The index, and what it states, as messages name it. */
  readonly by: string
  /** Names what lies there, alike in input and output; null if nothing of the stated kind does. */
  readonly leadsTo: string | null
  /** Set if new packets lie there, which begin at other times than the old ones. */
  readonly newSec?: NewTime
}

/** The time of an entry and of the packet to which it leads, in seconds. */
interface NewTime {
  /** Names the entries of one track. */
  readonly of: string
  readonly stated: number
  readonly found: number
}

/** Most seconds between the time of an entry and the new packet to which it leads: longer than packets of any codec. */
const MOST_MOVED_SEC = 3

/** Entries of an index that are read: all of most files, and some at even distances of a longer one. */
const MOST_READ = 200

/** Some of `count` entries, the first and the last among them. */
export function evenPlaces(count: number): readonly number[] {
  const read = Math.min(count, MOST_READ)
  return Array.from({ length: read }, (_, place) => Math.round((place * (count - 1)) / Math.max(1, read - 1)))
}

/** Names the indices that lead elsewhere than before, of those entries that led somewhere, and new ones that lead nowhere. */
export function misledIndices(before: readonly StatedPlace[], after: readonly StatedPlace[]): readonly string[] {
  const made = numbered(after)
  const lastSec = new Map<string, number>()
  for (const { newSec } of after) {
    if (newSec) lastSec.set(newSec.of, Math.max(newSec.found, lastSec.get(newSec.of) ?? 0))
  }
  const leadsAlike = ({ leadsTo, newSec }: StatedPlace, place: StatedPlace | undefined) => {
    if (leadsTo === null || place?.leadsTo !== leadsTo) return leadsTo === null
    // The new sound may end before an entry.
    const wantedSec = Math.min(newSec?.stated ?? 0, lastSec.get(newSec?.of ?? '') ?? 0)
    return Math.abs((place.newSec?.found ?? 0) - wantedSec) <= MOST_MOVED_SEC
  }
  const old = numbered(before)
  const wrong = [...old].filter(([name, place]) => !leadsAlike(place, made.get(name)))
  const added = [...made].filter(([name, { leadsTo }]) => leadsTo === null && !old.has(name))
  return [...new Set([...wrong, ...added].map(([, { by }]) => by))]
}

/** The entries of each index by their number in it. */
function numbered(places: readonly StatedPlace[]): ReadonlyMap<string, StatedPlace> {
  const counts = new Map<string, number>()
  return new Map(
    places.map((place) => {
      const count = (counts.get(place.by) ?? 0) + 1
      counts.set(place.by, count)
      return [`${place.by} ${count}`, place] as const
    }),
  )
}
