/** `1:02.5`, `1:02:03` */
export function timeText(sec) {
  const tenths = Math.round(sec * 10)
  const hours = Math.floor(tenths / 36_000)
  const minutes = Math.floor(tenths / 600) % 60
  const rest = (tenths % 600) / 10
  const seconds = `${rest < 10 ? '0' : ''}${rest}`
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${seconds}` : `${minutes}:${seconds}`
}

/** Reads `90`, `1:30`, `1:02:03.5`; undefined for anything else. */
export function readTime(text) {
  const parts = text.trim().split(':')
  if (parts.length > 3 || !parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return undefined
  return parts.reduce((sum, part) => 60 * sum + Number(part), 0)
}
