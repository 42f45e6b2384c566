import { describe, expect, it } from 'vitest'
import * as step from 'voxmux/step'

/** What render scripts build on: a name that goes, or comes, is a decision. */
describe('the public surface of voxmux/step', () => {
  it('is these values and no others', () => {
    expect(Object.keys(step).sort()).toEqual(['scriptStep'])
  })
})
