import react from '@vitejs/plugin-react'
import { defineConfig, type ProxyOptions } from 'vite'

/** Where `npm run dev -w apps/web` finds a cell: the simulated one, or the base of a cloud. */
const cell = process.env['SKERRY_CELL'] ?? 'http://127.0.0.1:8791'

/** A cell accepts changes from pages of its own origin only: the development server speaks for such a page. */
const toCell: ProxyOptions = {
  target: cell,
  changeOrigin: true,
  configure(proxy) {
    proxy.on('proxyReq', (request) => {
      if (request.getHeader('origin') !== undefined) {
        request.setHeader('origin', new URL(cell).origin)
      }
    })
  },
}

export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  build: {
    target: ['chrome125', 'firefox147', 'safari26.2'],
    // The Content-Security-Policy of the page allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      // No library reads a property for its side effect, and these functions have none.
      treeshake: {
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
        manualPureFunctions: ['createContext', 'forwardRef', 'memo'],
      },
      optimization: { inlineConst: { mode: 'all', pass: 3 } },
      output: {
        // Each page is a chunk that its address loads; what pages share is in chunks that those pages load. React changes rarely and stays in
        // the browser's cache.
        codeSplitting: {
          groups: [
            {
              name: 'react',
              test: /node_modules\/(react|react-dom|scheduler|react-router)\//,
              priority: 2,
            },
            // The viewer of the docked console, in parts that load at the same time.
            { name: 'novnc-input', test: /@novnc\/novnc\/core\/input\//, priority: 4 },
            { name: 'novnc-unpack', test: /@novnc\/novnc\/(vendor|core\/decoders)\//, priority: 4 },
            { name: 'novnc-crypto', test: /@novnc\/novnc\/core\/(crypto\/|ra2)/, priority: 4 },
            { name: 'novnc', test: /@novnc\/novnc\//, priority: 3 },
            { name: 'shared', test: /(node_modules|src)\//, minShareCount: 8, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': toCell, '/ui/config.json': toCell } },
})
