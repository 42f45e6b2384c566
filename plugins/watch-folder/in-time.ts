/**
 * What `work` comes to. Where that takes too long, `late` is thrown, and the work itself goes on.
 *
 * @throws `late`, or what `work` throws
 */
export async function inTime<T>(work: Promise<T>, ms: number, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), ms)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
