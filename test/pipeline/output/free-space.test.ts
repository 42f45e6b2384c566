import { expect, it } from 'vitest'
import { spaceNeeded } from '../../../src/pipeline/output/free-space.js'

it('never says that as much space is free as is needed', () => {
  expect(spaceNeeded(39.9e6, 39.2e6)).toBe('40 MB needed, 39 MB free')
  expect(spaceNeeded(40e6, 0.4e6)).toBe('40 MB needed, 0 MB free')
})
