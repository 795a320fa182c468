import './styles/tokens.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router'

import { provideClockAndIds } from './api/clock-and-ids.ts'
import { queryClient } from './data/query-client.ts'
import { loadConfig, pageConfig } from './data/session.ts'
import { provideSource } from './data/source.ts'
import { createRouter } from './routes.tsx'

async function start(): Promise<void> {
  await loadConfig()
  const { kind } = pageConfig.get()
  if (kind === 'machine')
    provideSource((await import('./data/machine/machine-source.ts')).machineSource)
  const root = document.getElementById('root')
  if (!root) throw new Error('index.html has no element with the id root')
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={createRouter(kind)} />
    </QueryClientProvider>,
  )
}

provideClockAndIds({ now: Date.now, uuid: () => crypto.randomUUID() })
void start()
