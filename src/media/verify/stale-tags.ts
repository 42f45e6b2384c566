import type { MuxPlan } from '../write/remux/mux-plan.js'

/** Tags that state facts about the old audio, by the name behind the colon of their path in the census. */
export function staleTags({ writing }: MuxPlan): ReadonlySet<string> {
  const changed = writing.kind === 'bytes' ? writing.census.filter(({ fate }) => fate !== 'kept') : []
  return new Set(changed.flatMap(({ path }) => path.split(':').slice(1)).map((name) => name.toLowerCase()))
}
