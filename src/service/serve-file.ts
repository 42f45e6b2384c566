import { z } from 'zod'
import { limitsSchema } from '../precheck/index.js'
import { serviceSettingsSchema } from './service-settings.js'

/** The JSON file of `voxmux serve --settings`: every setting of a standalone service that is not a flag. */
export const serveFileSchema = serviceSettingsSchema.extend({
  $schema: z.string().optional().meta({ description: 'For editors. voxmux does not read it.' }),
  limits: limitsSchema
    .optional()
    .meta({ description: 'Limits of the files that the service accepts. They override the defaults.' }),
  publicUrl: z
    .url()
    .optional()
    .meta({ description: 'Address at which clients reach the API, if it is behind a proxy.' }),
  publicStorageUrl: z
    .url()
    .optional()
    .meta({ description: 'Address at which clients reach the storage, if it is behind a proxy.' }),
  storagePort: z.int().min(0).max(65535).optional().meta({ description: 'Port of the storage address.' }),
  azureContainer: z.string().min(3).optional().meta({
    description:
      'Keep files in this container of Azure Blob Storage; the account is in AZURE_STORAGE_CONNECTION_STRING.',
  }),
})
export type ServeFile = z.output<typeof serveFileSchema>
