import type { MuxPlan } from '../write/remux/mux-plan.js'

/** Tags that state facts about the old audio, by the name behind the colon of their path in the census. */
export function staleTagNames({ writing }: MuxPlan): ReadonlySet<string> {
  const names = new Set<string>()
  if (writing.kind !== 'bytes') return names
  for (const { path, fate } of writing.census) {
    if (fate !== 'kept') for (const name of path.split(':').slice(1)) names.add(name.toLowerCase())
  }
  return names
}
