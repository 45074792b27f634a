export const verifyBundleFile = (_file: string, _key: string | undefined): Promise<number> =>
  Promise.reject(new Error('todo'));
