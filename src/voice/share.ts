/** Told how much of a task is done: 0 … 1, never falling. */
export type OnShare = (share: number) => void

/** The listener of a step that takes a task from one share to another. */
export function stepOf(onShare: OnShare | undefined, from: number, to: number): OnShare | undefined {
  return onShare && ((share) => onShare(from + share * (to - from)))
}
