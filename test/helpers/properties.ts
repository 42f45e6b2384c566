import fc from 'fast-check'

/**
 * fast-check as the tests use it. `npm test` draws the same cases every time, so that a change is judged by what it changes;
 * `npm run soak` draws new ones, and prints the seed of a failure.
 */
if (!process.env.VOXMUX_SOAK) fc.configureGlobal({ seed: 20_261_122 })

export { default } from 'fast-check'
