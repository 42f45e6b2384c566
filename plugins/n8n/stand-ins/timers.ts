/** Takes the place of the timers of Node in the n8n node: a verified node may only sleep. */
import { sleep } from 'n8n-workflow'

/** A timer that is set; `clearTimeout` takes it. */
interface Timer {
  isOn: boolean
}

/** The global function. */
export function setTimeout(call: () => void, delayMs = 0): Timer {
  const timer = { isOn: true }
  void sleep(delayMs).then(() => timer.isOn && call())
  return timer
}

/** The global function. */
export function clearTimeout(timer: Timer | undefined): void {
  if (timer) timer.isOn = false
}
