/** A time in whole seconds, such as `0:07`, `1:20` or `2:03:00`. */
export function clock(ms: number): string {
  const sec = Math.max(0, Math.floor(ms / 1000))
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(sec / 3600), Math.floor(sec / 60) % 60]
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(sec % 60)}` : `${minutes}:${twoDigits(sec % 60)}`
}
