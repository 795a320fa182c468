import { openServerIdentity, sharing, type IdentityContext } from '@skerry/host-api'
import { identityFiles } from '@skerry/service'

/** The certificates of this console, for browsers, cells and hosts. */
export const openIdentity = (context: IdentityContext) =>
  openServerIdentity(context, {
    role: 'console',
    more: async (own, read) => ({
      // Loaded once for all connections to hosts: a TLS context for each would be most of their cost.
      toHosts: sharing({ ...own, ca: await read(identityFiles.hosts) }),
    }),
  })
