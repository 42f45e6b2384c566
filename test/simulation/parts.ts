/** The files `months-*.test.ts`. They share the seeds among them, so that every core of a machine has work. */
export const MOST_PARTS = 4
