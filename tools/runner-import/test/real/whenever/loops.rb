%w(a b c).each_with_index do |name, i|
  every 1.day, at: "#{i}:00 am" do
    rake "sync:#{name}"
  end
end
every 1.day, at: '5:00 am' do
  rake "sync:#{ENV['NAME']}"
  rake 'sync:all'
end
