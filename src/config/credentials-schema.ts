import { z } from 'zod'

export const webAddressSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https address' })

/** How outputs are signed with Content Credentials (C2PA). Only a configuration that needs trust may have it. */
export const credentialsSchema = z.strictObject({
  cert: z.string().min(1).meta({
    description: 'PEM file with the signing certificate, followed by those between it and its authority.',
  }),
  key: z.string().min(1).optional().meta({ description: 'PEM file with the private key of the certificate.' }),
  keyVariable: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
    .optional()
    .meta({ description: 'Environment variable that holds the private key as PEM, instead of `key`.' }),
  keyCommand: z.array(z.string().min(1)).min(1).optional().meta({
    description:
      'Program and arguments that sign standard input and write the signature to standard output, instead of `key`: for PKCS#11 and key services. Started without a shell.',
  }),
  timestamp: webAddressSchema.optional().meta({ description: 'Address of an RFC 3161 time stamp authority.' }),
  allowPrivateTimestamp: z.boolean().optional().meta({
    description: 'Allows a time stamp authority in a private network.',
  }),
  sourceType: z.enum(['algorithmicallyEnhanced', 'compositeWithTrainedAlgorithmicMedia']).optional().meta({
    description:
      'The effect of the service on a voice, in the words of the IPTC. Default: the first for the embedded service, the second for any other.',
  }),
})
export type CredentialsSettings = z.infer<typeof credentialsSchema>
