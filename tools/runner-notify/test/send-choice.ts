export const TOLD = 'the message goes to every active channel';
