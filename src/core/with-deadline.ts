/**
 * Returns the result of `work`. If `work` takes longer than `ms`, returns or throws the result of `late`; the work
 * itself continues.
 *
 * @param ms milliseconds; 0 or less means at once
 */
export async function withDeadline<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<L>((resolve, reject) => {
    timer = setTimeout(
      () => {
        try {
          resolve(late())
        } catch (error) {
          reject(error)
        }
      },
      Math.max(0, ms),
    )
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
