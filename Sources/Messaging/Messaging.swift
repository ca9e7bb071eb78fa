// Messaging
