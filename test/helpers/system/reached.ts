/** Nothing at all for so long is a standstill, on however slow a machine: every pause of the code under test is shorter. */
const STANDSTILL_MS = 120_000
/** Asking is work for what is asked: not more often than needed. */
const LOOK_MS = 50

/**
 * Waits until a number comes to its goal: as long as it takes, while it goes on.
 *
 * @throws Error when it has not changed for two minutes
 */
export async function reached(look: () => Promise<number>, goal: number): Promise<void> {
  let last = Number.NaN
  let sinceMs = Date.now()
  for (;;) {
    const now = await look()
    if (now >= goal) return
    if (now !== last) [last, sinceMs] = [now, Date.now()]
    else if (Date.now() - sinceMs > STANDSTILL_MS) throw new Error(`It stands still at ${now} of ${goal}.`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
