import { expect, it } from 'vitest'
import { redactText, redactUrl } from '../../src/core/redact.js'
import fc from '../helpers/properties.js'

/** What is in secrets and links: nothing of it may come out again. */
const secret = fc.stringMatching(/^[A-Za-z0-9_.~+/-]{12,40}={0,2}$/)

it('lets no user, password, query or fragment of an address through', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z0-9]{12,30}$/), (hidden) => {
      for (const address of [
        `https://blob.example/a/b?sig=${hidden}`,
        `https://${hidden}@host/a`,
        `https://user:${hidden}@host:8443/a`,
        `http://host/a#${hidden}`,
        `HTTPS://host/a?x=1&sig=${hidden}`,
      ]) {
        expect(redactUrl(address)).not.toContain(hidden)
        expect(redactText(`GET ${address} failed (${address}), "${address}"`)).not.toContain(hidden)
      }
    }),
  )
})

it('lets no named secret and no bearer token through, as JSON, form, header or prose', () => {
  fc.assert(
    fc.property(secret, (hidden) => {
      for (const text of [
        `Authorization: Bearer ${hidden}`,
        `authorization: bearer  ${hidden}`,
        `grant_type=client_credentials&client_secret=${hidden}&scope=x`,
        `{"client_secret":"${hidden}"}`,
        `{ "webhook_secret" : "${hidden}" }`,
        `{"access_token":"${hidden}","token_type":"Bearer"}`,
        `{\\"access_token\\":\\"${hidden}\\"}`,
        `clientSecret: '${hidden}'`,
        `VOXMUX_CLIENT_SECRET=${hidden}`,
        `password=${hidden}`,
        `{"secret":"two words ${hidden}"}`,
      ])
        expect(redactText(text), text).not.toContain(hidden)
    }),
  )
})

it('leaves everything else as it is', () => {
  for (const text of [
    'No space left while writing /a/b.mov.',
    'secret_position: it is a secret',
    'https://host/a/b',
    '',
  ])
    expect(redactText(text)).toBe(text)
  expect(redactText('see https://host/a/b?x=1 now')).toBe('see https://host/a/b?[redacted] now')
  expect(redactUrl('not an address')).toBe('[redacted]')
})

it('reads a long text once, whatever it repeats', () => {
  const parts = ['a', '-', 'secret', 'secret="', "secret='", 'secret\\"', 'secret\\', 'bearer ', 'http://', ' ', '=']
  for (const part of parts) {
    const text = redactText(`password=hidden ${part.repeat(200_000)}`)
    expect(text.includes('hidden'), part).toBe(false)
  }
})
