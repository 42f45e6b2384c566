/** Time of a file in the format of MS-DOS. Zip has no time zone: UTC, so that the same file always gives the same bytes. */
export function dosTimeOf(time: Date): number {
  const year = Math.min(Math.max(time.getUTCFullYear(), 1980), 2107)
  const date = ((year - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate()
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)
  return ((date << 16) | clock) >>> 0
}

/** Inverse of {@link dosTimeOf}, to two seconds; the start of its calendar for a time that is none. */
export function timeOfDos(dosTime: number): Date {
  const [date, clock] = [dosTime >>> 16, dosTime & 0xffff]
  const day = Date.UTC(1980 + (date >> 9), Math.max(0, ((date >> 5) & 15) - 1), Math.max(1, date & 31))
  return new Date(day + (((clock >> 11) * 60 + ((clock >> 5) & 63)) * 60 + (clock & 31) * 2) * 1000)
}
