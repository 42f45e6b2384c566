/** Takes the place of a file that does not exist. Any other error, such as that of a share that is away, is thrown again. */
export function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return instead
    throw error
  }
}
